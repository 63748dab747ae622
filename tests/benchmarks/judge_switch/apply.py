import sys; sys.path.insert(0,'.')
import pandas as pd
from pathlib import Path
from faithbook.judge.reference import judged_again
from faithbook.judge.scoreboard import to_judge, FIELDS
v=pd.concat([pd.read_csv(p) for p in sys.argv[1:]]).drop_duplicates('id',keep='last')
c=to_judge()
v=v[v.id.isin(c.id)]
print(len(v),'of',len(c),'missing',sorted(set(c.id)-set(v.id)))
p=Path('data/reference/full/scoreboard.csv')
out=judged_again(p.read_bytes(), v.drop(columns=['notebook']), c)
p.write_bytes(out)
b=pd.read_csv(p,dtype=str,keep_default_na=False); b=b.set_index('id').reindex(c.id).reset_index(); b=b.fillna(''); b.to_csv(p,index=False,lineterminator='\n')
print(b.decision.value_counts())
