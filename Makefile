# The commands of this repository; `make help` lists them. Each works alone on a fresh clone: what it needs is made first.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Size of the runs: smoke, laptop, full, confirm or paper; how many notebooks run at a time (default: all cores).
PROFILE ?= laptop
CORES ?=
# Whose numbers the pages show: reference (the full run's), run (what this machine computed) or both.
VALUES ?= reference
# Options for Snakemake, such as SNAKEMAKE="--workflow-profile notebooks/slurm" on a cluster (docs/cluster.md).
SNAKEMAKE ?=
# A slip is told at once, with plain tools, before anything is installed.
PROFILES := laptop smoke full confirm paper # as faithbook/engine/study.py has them (tests/test_makefile.py)
ifeq ($(filter $(PROFILES),$(PROFILE)),)
$(error unknown profile '$(PROFILE)'; known: $(PROFILES))
endif
# Any Python from 3.11 to 3.14, the first that runs (a shim of pyenv may name one that does not, while another is there).
IS_OURS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))
PYTHON ?= $(shell for one in python3.11 python3.12 python3.13 python3.14 python3 $(wildcard $(HOME)/.pyenv/versions/3.1[1-4].*/bin/python); do "$$one" -c '$(IS_OURS)' 2>/dev/null && echo "$$one" && break; done)

# The environment belongs to exactly these pins: another lock makes another stamp, and so a new installation. Nothing else does:
# a dependency that is added to pyproject.toml is installed when `make lock` has pinned it (tests/test_packaging.py).
BIN := .venv/bin
PINS := $(shell cksum < requirements.lock | tr ' ' -)
ENVIRONMENT := .venv/.made-from-$(PINS)
FAITHBOOK := $(BIN)/python -m faithbook
export PYTHONUNBUFFERED := 1
# As `faithbook.engine.build` has it for notebooks: a tenth of the time of a forward pass goes into memory given back too soon.
export GLIBC_TUNABLES ?= glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=2147483648:glibc.malloc.hugetlb=1

.PHONY: help book pdf publish course lab test test-long lint release lock fetch train preflight paper reference calibrate

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

book: $(ENVIRONMENT) fetch ## run the notebooks (PROFILE=laptop) and build the book (STUDY=soft: one study's notebooks alone; VALUES=run: your numbers)
	@$(FAITHBOOK) $(if $(STUDY),build --study $(STUDY),book) --profile $(PROFILE) --values $(VALUES) $(if $(CORES),--cores $(CORES)) $(if $(SNAKEMAKE),-- $(SNAKEMAKE))

pdf: $(ENVIRONMENT) fetch ## the book as one PDF with outline and page numbers (needs Chromium)
	@$(FAITHBOOK) pdf --profile $(PROFILE) $(if $(CORES),--cores $(CORES))

publish: $(ENVIRONMENT) fetch ## the book for the web into SITE=folder (REPOSITORY=owner/name; .ci/publish pushes it)
	@$(FAITHBOOK) book --profile $(PROFILE) --site $(or $(SITE),$(error name a folder: make publish SITE=../pages)) $(if $(CORES),--cores $(CORES))

# nbgrader has an environment of its own next to the book's: no pin of the book depends on it.
course: TO ?= data/results/course
course: SEED ?= 1
course: $(ENVIRONMENT) ## the course's assignments into TO=folder: source/ for the teacher, release/ for students (SEED=2: other numbers)
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-course
	@VIRTUAL_ENV=.venv-course $(BIN)/uv pip install --quiet --group course
	@JUPYTER_PATH=$(CURDIR)/.venv-course/share/jupyter $(BIN)/python -m ipykernel install --prefix .venv-course --name python3 >/dev/null
	@$(BIN)/python -m faithbook.course $(TO) --seed $(SEED)
	@for name in $$(ls $(TO)/source); do \
	 (cd $(TO) && PATH=$(CURDIR)/.venv-course/bin:$$PATH nbgrader generate_assignment --force --log-level=WARN $$name); done
	@echo "the assignments are in $(TO); collect and mark them there with $(CURDIR)/.venv-course/bin/nbgrader"

# JupyterLab has an environment of its own too; its kernel is the book's. Notebooks are Python files, which a click opens as notebooks.
lab: $(ENVIRONMENT) fetch ## JupyterLab with all notebooks, to change something and see what happens (LAB="--no-browser --port 9000")
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-lab
	@VIRTUAL_ENV=.venv-lab $(BIN)/uv pip install --quiet --group lab
	@JUPYTER_PATH=$(CURDIR)/.venv-lab/share/jupyter $(BIN)/python -m ipykernel install --prefix .venv-lab --name python3 --display-name "Python 3" >/dev/null
	@mkdir -p .venv-lab/share/jupyter/lab/settings
	@cp notebooks/lab.json .venv-lab/share/jupyter/lab/settings/overrides.json
	@.venv-lab/bin/jupyter lab notebooks $(LAB)

test: $(ENVIRONMENT) ## lint, types, all tests, the smoke book and its pages in a browser
	@$(MAKE) --no-print-directory --jobs=2 fetch lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	 echo "no Chromium on this machine: the page checks in a browser were skipped (Debian: apt-get install chromium)"

test-long: $(ENVIRONMENT) fetch ## what takes longer: the wheel in an empty environment, other Pythons, a Slurm, whole computations
	$(BIN)/python -m pytest -m long -n 2 --dist loadgroup

lint: $(ENVIRONMENT) ## style, types and who may import whom (FIX=yes: puts the style right first)
	$(BIN)/ruff check $(if $(FIX),--fix) .
	$(BIN)/ruff format $(if $(FIX),,--check) .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

release: $(ENVIRONMENT) ## the library's wheel and source into dist/, checked as a registry does; it stops before the upload
	@$(BIN)/python tests/publishable.py
	@rm -rf dist
	@$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist .
	@$(BIN)/uv tool run --quiet twine check --strict dist/faithlib-*
	@echo "dist/ holds what would be uploaded; nothing was. docs/publishing.md says what comes before and after"

fetch: $(ENVIRONMENT) ## fetch and verify what the default run reads (also the papers': python -m faithbook.sources.files fetch --all)
	@$(BIN)/python -m faithbook.sources.files fetch

train: $(ENVIRONMENT) fetch ## make every checkpoint of a profile again (PROFILE=laptop: those that are shipped; hours)
	@$(FAITHBOOK) train --profile $(PROFILE) $(if $(STUDY),--study $(STUDY)) $(if $(MISSING),--missing) $(if $(CORES),--cores $(CORES)) $(if $(SNAKEMAKE),-- $(SNAKEMAKE))

preflight: $(ENVIRONMENT) ## what a profile needs and what of it is missing (PROFILE=paper, STUDY=soft: one paper)
	@$(FAITHBOOK) preflight --profile $(PROFILE) $(if $(STUDY),--study $(STUDY)) $(if $(FETCH),--fetch)

paper: ## the papers' own models and data, trained first: needs a GPU and the network (STUDY=soft: one paper, without the book)
	@$(MAKE) preflight PROFILE=paper FETCH=yes
	@$(MAKE) train PROFILE=paper MISSING=yes
	@$(MAKE) book PROFILE=paper

reference: $(ENVIRONMENT) fetch ## the full profile's values into data/reference/full, the book of them, its verdicts (STUDY=soft: one study)
	@$(FAITHBOOK) build --profile full $(if $(STUDY),--study $(STUDY)) $(if $(CORES),--cores $(CORES)) $(if $(SNAKEMAKE),-- $(SNAKEMAKE))
	@$(FAITHBOOK) reference --profile full $(if $(STUDY),--study $(STUDY))
	@$(MAKE) book STUDY=
	@$(FAITHBOOK) reference --verdicts --profile $(PROFILE) $(if $(STUDY),--study $(STUDY))

calibrate: $(ENVIRONMENT) ## how often the rules err where the truth is known, into data/reference (after make book; twenty minutes)
	@$(BIN)/python -m faithbook.stats.calibrate
	@$(BIN)/python -m faithbook.judge.claim_rates

lock: $(ENVIRONMENT) ## resolve pyproject.toml into requirements.lock again
	@echo '# Every package of the environment, pinned with the digests of its files. Made from pyproject.toml by `make lock`; do not edit.' > .lock.tmp
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group dev --no-emit-index-url --no-emit-find-links \
	 --no-annotate --no-header --constraint requirements.lock pyproject.toml >> .lock.tmp
	@mv .lock.tmp requirements.lock

# uv installs in a fifth of pip's time, so pip only brings uv; where uv cannot reach the index, pip does all of it. Bytecode
# is made once, here (half a minute): where PYTHONDONTWRITEBYTECODE is set, every notebook would spend ten seconds on it again.
$(ENVIRONMENT):
	@$(or $(PYTHON),false) -c '$(IS_OURS)' || { echo "Python 3.11 to 3.14 is needed: make PYTHON=/path/to/python3.12"; exit 1; }
	@echo "installing the environment into .venv (about 6.5 GB, once)"
	@$(PYTHON) -m venv .venv
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock
	@VIRTUAL_ENV=.venv $(BIN)/uv pip install --quiet --require-hashes -r requirements.lock || \
	 $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib || true # some files are templates
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@rm -f .venv/.made-from-*
	@touch $@
