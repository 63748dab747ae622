"""old.csv new.csv -> data/reference/verdicts_before_after.csv"""
import sys, pandas as pd, importlib.util, re
old=pd.read_csv(sys.argv[1],keep_default_na=False,dtype=str).set_index('id'); new=pd.read_csv(sys.argv[2],keep_default_na=False,dtype=str).set_index('id')
src=open('/tmp/judge/make_plan.py').read()
CH={}
for m in re.finditer(r'^ch\("([^"]+)","([^"]*)"',src,re.M): CH[m[1]]=m[2]
claims=pd.read_csv('data/claims.csv',keep_default_na=False,dtype=str)
plan=pd.read_csv('data/analysis_plan.csv',keep_default_na=False,dtype=str).set_index('id')
rows=[]
for id in claims.id:
    a=old.loc[id,'decision'] if id in old.index else ''
    b=new.loc[id,'decision'] if id in new.index else ''
    base=plan.loc[id,'same_as'] or id
    cause=''
    if a!=b and b:
        r=new.loc[id]
        if not a: cause='added on 2026-11-28, after the values had been seen'
        elif "own repeats disagree" in r.get('reason',''): cause="the paper's own repeat goes through the same rule by points, and fails"
        elif CH.get(base): cause=CH[base]
        elif "no difference above the margin" in r.get('reason',''): cause="parts inside the margin decide, where all of them had to lie inside"
        elif a=='undecided': cause="one test for all values: no answer is left out because values look skewed"
        else: cause="another test: Student's t with the bootstrap's standard error instead of the larger of five"
    rows.append(dict(id=id,before=a,after=b,evidence=new.loc[id,'evidence'] if id in new.index else '',cause=cause))
t=pd.DataFrame(rows); t.to_csv('data/reference/verdicts_before_after.csv',index=False,lineterminator="\n")
print((t.before!=t.after).sum(),'changed;',(t.after=='').sum(),'missing'); print(t[(t.before!=t.after)].to_string())
