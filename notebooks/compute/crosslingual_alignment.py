# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: how good the word alignments are, and how alike a model finds translations
#
# Zaman & Belinkov (2022) carry scores along word alignments and assume that translations are similar inputs. Both can
# be measured. Links are compared against links made by people, for every layer of the encoder and for an aligner that
# has never seen a neural network; and representations by centred kernel alignment (their Appendix C).

# %% tags=["parameters"]
profile = "laptop"
# Your choices: None is what the profile says.
gold_sentences = None  # sentences with links made by people
learnt_from = None  # pairs that fast_align learns from
align_layer = None  # layer of the encoder whose states make the links
represented = None  # texts whose representations are compared
cka_draws = None  # ways to put the texts into batches

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.encoders import load_encoder
from faithbook.sources.datasets import load_parallel
from faithbook.sources.files import is_fetched
from faithbook.sources.tokenise import Pair
from faithbook.studies.crosslingual.gold import link_counts, load_gold
from faithbook.studies.crosslingual.links import encoder_links, fast_align, has_fast_align, mutual_argmax, softmax_links
from faithbook.studies.crosslingual.similarity import found_translations, models_of, representations

run = start_run(
    "crosslingual_alignment",
    profile=profile,
    gold_sentences=gold_sentences,
    learnt_from=learnt_from,
    align_layer=align_layer,
    represented=represented,
    cka_draws=cka_draws,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"


aligner, tokenizer = load_encoder(settings["aligner"])
aligner = aligner.to(device)

# %% [markdown]
# ## Against links made by people
#
# With found links $A$, those that people are sure of $S$, and those that they call at least possible $P \supseteq S$, the
# alignment error rate is
#
# $$\mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}.$$
#
# The verses come with the package registries; the two other sets are used if their files are available.

# %%
GOLD = {"bible": "el", "rwth": "de", "xlwa": "bg"}  # with the language beside English
LINKS = {"mutual argmax": mutual_argmax, "softmax": softmax_links}

counts = []
available = [name for name in GOLD if is_fetched(name) or name == "bible"]
for name in tqdm(available, desc="gold"):
    gold = load_gold(name, n=settings["gold_sentences"])
    links_of = {}
    for aligner_name, link in LINKS.items():
        for layer, links in encoder_links(aligner, tokenizer, gold, link=link).items():
            links_of[aligner_name, str(layer)] = links
    if has_fast_align():
        # fast_align learns from the pairs it aligns: it gets more, and is measured on the same sentences.
        everything = load_gold(name, n=max(settings["learnt_from"], len(gold)))
        place = {pair.id: i for i, pair in enumerate(everything)}
        statistical = fast_align(everything)
        links_of["fast_align", ""] = tuple(statistical[place[pair.id]] for pair in gold)
    ids, sure, possible = [], [], []
    for pair in gold:
        ids.append(pair.id)
        sure.append(pair.sure)
        possible.append(pair.possible)
    for (aligner_name, layer), links in links_of.items():
        about = {"gold": name, "language": GOLD[name], "aligner": aligner_name, "layer": layer, "n": len(gold)}
        counted = pd.DataFrame(link_counts(links, sure, possible)).astype(int)
        counts.append(counted.assign(input=ids, possible=[len(of_pair) for of_pair in possible], **about))
counts = pd.concat(counts, ignore_index=True)
COUNTED = ["found", "sure", "found_sure", "found_possible"]
named = counts.assign(method=counts.aligner, layer=counts.layer.replace("", "none"))
run.save_units(as_units(named, seed=0, metrics=[*COUNTED, "possible"], keys=["gold", "layer"]))

# %% [markdown]
# ## On the messages themselves
#
# Nobody aligned these by hand. What can be measured is whether two aligners that have nothing in common agree: the
# encoder's links, and those that fast_align learns from the messages of that language (as many as `learnt_from` says).
# Where its package is not installed (it has wheels for Python 3.11 only), this build measures no agreement.

# %%
layer = settings["align_layer"]
agreement = []
compared = [language for language in settings["languages"] if language != "en" and has_fast_align()]
for language in tqdm(compared, desc="agreement"):
    pairs = []
    for split in settings["counted_splits"]:
        texts = load_parallel(settings["dataset"], ["en", language], split)
        pairs += [Pair.from_texts(*both) for both in zip(texts["en"].wholes, texts[language].wholes, strict=True)]
    pairs = pairs[-max(settings["learnt_from"], settings["compared_messages"]) :]
    looked_at = pairs[-settings["compared_messages"] :]  # the last ones, which are of the test split
    ours = encoder_links(aligner, tokenizer, looked_at, layers=[layer], link=LINKS[settings["links"]])[layer]
    theirs = fast_align(pairs)[-len(looked_at) :]
    counted = pd.DataFrame(link_counts(ours, theirs)).astype(int)
    agreement.append(counted.rename_axis("input").reset_index().assign(language=language, learnt_from=len(pairs)))
if agreement:
    agreement = pd.concat(agreement, ignore_index=True)
    run.save_units(as_units(agreement, seed=0, metrics=COUNTED, keys=["language"]), "agreement")

# %% [markdown]
# ## Are translations alike?
#
# The rows of $X$ are texts, those of $Y$ their translations, as a model represents them; columns are centred. Centred kernel
# alignment compares which texts are close to which:
#
# $$\mathrm{CKA}(X, Y) = \frac{\lVert Y^\top X \rVert^2}{\lVert X^\top X \rVert\, \lVert Y^\top Y \rVert} .$$
#
# Appendix C of the paper: 8 texts and their translations against 10 batches of 8 translations of other texts.
# Multilingual encoders, before and after learning the task from English, are compared with encoders of one language.

# %%
data = load_parallel(settings["dataset"], settings["languages"], settings["split"], n=settings["represented"])
hits = []
for name, network, own_tokenizer in tqdm(models_of(settings["beside"], settings["models"]), desc="representations"):
    network = network.to(device)
    states = {language: representations(network, own_tokenizer, texts.wholes) for language, texts in data.items()}
    hits.append(found_translations(states, settings["cka_draws"]).assign(model=name))
# A batch is what is drawn; `draw` numbers the ways in which the texts were put into batches.
batches = pd.concat(hits, ignore_index=True)
run.save_units(as_units(batches, seed=0, metrics=["hit"], keys=["model", "language", "draw"], name="batch"), "cka")

# %%
run.note(n=len(data["en"]), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Links by aligner and layer in counts a sentence (`found_possible`: found ones that people call at least possible; `sure`: what
# they are sure of), and the share of batches in which a translation is the most alike. *Book*: the full run's mean.

# %%
beside_book(run, by=["metric", "method", "layer"], metrics=["found", "found_possible", "found_sure", "sure"])

# %%
beside_book(run, part="cka", by=["metric", "model"])
