# On a machine with Python 3.11 or newer, pip and make, nothing else is needed:
#   make demo    make test    make check    make clean
# Another Python: make demo PYTHON=/path/to/python3.12

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)

BIN := .venv/bin
INSTALLED := .venv/.installed
DEMO := checkpoints/pocket
SENTENCES := 'The happy nurse cooks a potato because she is hungry.' \
	'When will the old queen hide the ring?' \
	'Your father drank this apple juice.'
SAY := @printf '\n\033[1m%s\033[0m\n'

.PHONY: help demo test check clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo    train on the embedded corpus, evaluate, translate, draw the attention (minutes on two cores)'
	@echo 'make test    lint, types, import contracts and the whole test suite'
	@echo 'make check   lint, types and import contracts alone'
	@echo 'make clean   remove the environment and all caches; checkpoints stay'

# Reinstalled only when what is to be installed has changed.
$(INSTALLED): pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null || { echo \
	  'Python 3.11 or newer is needed and was not found: install it, or name it as in make demo PYTHON=/path/to/python3.11' >&2; \
	  exit 2; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -e '.[dev]' -c constraints.txt
	@touch $@

check: $(INSTALLED)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile

demo: $(INSTALLED)
	$(SAY) 'Training on the embedded corpus'
	@if test -f $(DEMO)/metrics.json; then \
	  echo '$(DEMO) is trained already; going on with it (to train anew: move it away first)'; \
	else $(BIN)/python scripts/train.py data=pocket trainer=cpu name=pocket resume=auto; fi
	$(SAY) 'Scores on sentences never seen in training, and on verbs with nouns never seen together'
	@$(BIN)/python scripts/evaluate.py checkpoint=$(DEMO) split=test > /dev/null
	@$(BIN)/python scripts/evaluate.py checkpoint=$(DEMO) split=test_unseen > /dev/null
	$(SAY) 'How well each head aligns words; the best place, found on validation sentences, is stored'
	@$(BIN)/python scripts/inspect_checkpoint.py $(DEMO) aer --data pocket --store-best
	$(SAY) 'Three translations'
	@printf '%s\n' $(SENTENCES) > $(DEMO)/demo.en
	@$(BIN)/translate -q -m $(DEMO) -i $(DEMO)/demo.en -o $(DEMO)/demo.de
	@paste $(DEMO)/demo.en $(DEMO)/demo.de
	$(SAY) 'Where the model looks while it writes'
	@number=0; while read -r sentence; do number=$$((number + 1)); \
	  $(BIN)/python scripts/inspect_checkpoint.py $(DEMO) align --source "$$sentence" \
	    --png $(DEMO)/attention-$$number.png < /dev/null || exit 1; echo; \
	done < $(DEMO)/demo.en
	$(SAY) 'What there is now'
	@echo '$(DEMO)/                  the model, with its scores in metrics.json'
	@echo '$(DEMO)/hypotheses.*      what was scored'
	@echo '$(DEMO)/demo.en, demo.de  the three translations'
	@echo '$(DEMO)/attention-*.png   all layers and heads for each of them'
	@echo 'Translate more:   echo "The old man reads a book." | $(BIN)/translate -m $(DEMO)'
	@echo 'Look inside:      $(BIN)/python scripts/inspect_checkpoint.py $(DEMO)'

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
