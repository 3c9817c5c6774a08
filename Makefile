# On a machine with Python 3.11 or newer, pip and make, nothing else is needed:
#   make demo    make test    make check    make clean
# Another Python: make demo PYTHON=/path/to/python3.12

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)

BIN := .venv/bin
TO_RUN := .venv/.installed
TO_TEST := .venv/.installed-dev
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

# Two installs, each repeated only when what is to be installed has changed: what running takes, and what tests take.
define install
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null || { echo \
	  'Python 3.11 or newer is needed and was not found: install it, or name it as in make demo PYTHON=/path/to/python3.11' >&2; \
	  exit 2; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@echo 'Installing into .venv ($(1)): minutes, the first time'
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[$(1)]' -c constraints.txt
endef

$(TO_RUN): pyproject.toml constraints.txt
	$(call install,train)
	@touch $@

$(TO_TEST): pyproject.toml constraints.txt
	$(call install,dev)
	@touch $(TO_RUN) $@

check: $(TO_TEST)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile

demo: $(TO_RUN)
	$(SAY) 'Training on the embedded corpus'
	@if test -f $(DEMO)/metrics.json; then \
	  echo '$(DEMO) is trained already; going on with it (to train anew: move it away first)'; \
	else $(BIN)/translator train data=pocket trainer=cpu name=pocket resume=auto; fi
	$(SAY) 'Scores on sentences never seen in training, and on verbs with nouns never seen together'
	@$(BIN)/translator evaluate checkpoint=$(DEMO) split=test > /dev/null
	@$(BIN)/translator evaluate checkpoint=$(DEMO) split=test_unseen > /dev/null
	$(SAY) 'How well each head aligns words; the best place, found on validation sentences, is stored'
	@$(BIN)/translator aer $(DEMO) --data pocket --store-best
	$(SAY) 'Three translations'
	@printf '%s\n' $(SENTENCES) > $(DEMO)/demo.en
	@$(BIN)/translate -q -m $(DEMO) -i $(DEMO)/demo.en -o $(DEMO)/demo.de
	@paste $(DEMO)/demo.en $(DEMO)/demo.de
	$(SAY) 'Where the model looks while it writes'
	@number=0; while read -r sentence; do number=$$((number + 1)); \
	  $(BIN)/translator align $(DEMO) --source "$$sentence" \
	    --png $(DEMO)/attention-$$number.png < /dev/null || exit 1; echo; \
	done < $(DEMO)/demo.en
	$(SAY) 'What there is now'
	@echo '$(DEMO)/                  the model, with its scores in metrics.json'
	@echo '$(DEMO)/hypotheses.*      what was scored'
	@echo '$(DEMO)/demo.en, demo.de  the three translations'
	@echo '$(DEMO)/attention-*.png   all layers and heads for each of them'
	@echo 'Translate more:   echo "The old man reads a book." | $(BIN)/translate -m $(DEMO)'
	@echo 'Look inside:      $(BIN)/translator inspect $(DEMO)'

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
