"""Every verdict on the committed reference: judge_all.py OUT.csv RESAMPLES [NOTEBOOK ...]; in the tree of the working directory."""
import sys, os, json, time, traceback, shutil, ast
sys.path.insert(0,'tests'); sys.path.insert(0,'.')
from pathlib import Path
import pytest, jupytext
import pandas as pd
import store
from faithbook.judge import scores, published
out, resamples, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
mp=pytest.MonkeyPatch()
if not names:
    names=[n for n in dict.fromkeys(published.claims()["page"])]
errors=[]
def run_cells(source, parameters, shown):
    ns={"__name__":"__main__"}
    for number, cell in enumerate(jupytext.read(source).cells):
        if cell.cell_type!="code": continue
        tree=ast.parse(cell.source)
        last=tree.body.pop() if tree.body and isinstance(tree.body[-1],ast.Expr) else None
        try:
            exec(compile(tree,f"{source.name}, cell {number}","exec"),ns)
            if last is not None: eval(compile(ast.Expression(last.value),f"{source.name}, cell {number}","eval"),ns)
        except BaseException as e:
            tb=traceback.extract_tb(sys.exc_info()[2])
            where=[f"{Path(f.filename).name}:{f.lineno}" for f in tb][-3:]
            errors.append((source.stem,number,type(e).__name__,str(e)[:200],where)); print("   ERR",source.stem,number,type(e).__name__,str(e)[:160],where,flush=True)
        if "parameters" in cell.metadata.get("tags",[]): ns.update(parameters)
    NS.clear(); NS.update(ns)
    return ns
NS={}
store.run_cells=run_cells
frames=[]
import faithbook.engine.run as R
for name in names:
    home=Path(f'/tmp/judge/run-{os.getpid()}/{name}'); shutil.rmtree(home,ignore_errors=True); home.mkdir(parents=True)
    S=store.Store(home,mp)
    mp.setattr(scores,'RESAMPLES',resamples)
    (S.home/'data'/'reference').symlink_to(Path('data/reference').resolve())
    extra=Path(f'/tmp/preview_tables/{name}')
    for nb in (sorted(extra.iterdir()) if extra.is_dir() else []):
        S.add(nb.name,{p.stem.removeprefix('units').lstrip('_'):pd.read_parquet(p) for p in nb.glob('units*.parquet')},tables={p.stem:pd.read_parquet(p) for p in nb.glob('*.parquet') if not p.stem.startswith('units')},declared=tuple(json.loads((nb/'declared.json').read_text())) if (nb/'declared.json').exists() else ())
    t=time.time()
    try:
        S.report(name)
        page=NS.get("page")
        if page is not None and page._entries:
            f=pd.DataFrame([*page._entries.values()]); f["notebook"]=name; frames.append(f)
    except BaseException as e: print("  FAIL",name,type(e).__name__,str(e)[:200],flush=True)
    print(name,round(time.time()-t,1),flush=True)
    if frames: pd.concat(frames,ignore_index=True).to_csv(out,index=False)
    import matplotlib.pyplot as plt; plt.close("all")
