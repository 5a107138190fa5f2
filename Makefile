# Needs Python 3.11 or newer and make; everything else goes into .venv.
.DEFAULT_GOAL := help
.PHONY: help setup lab test lint report bench notebooks lock clean

UV_VERSION := 0.13.9
SUITABLE := -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  $$p $(SUITABLE) 2>/dev/null && echo $$p && break; done)
VENV_PYTHON := .venv/bin/python
COSTKIT := .venv/bin/costkit
READY := .venv/ready
ARGS ?=
# uv trusts what the system trusts, or a company's proxy could not be passed.
export UV_SYSTEM_CERTS ?= 1

help:
	@echo "make lab        set up if needed, then open the workbook in JupyterLab"
	@echo "make test       everything that CI checks"
	@echo "make report     render the notebooks as offline HTML into reports/"
	@echo "make bench      measure speed, and errors beside other packages; prints a table"
	@echo "make notebooks  run the notebooks again and store their outputs"
	@echo "make lint       ruff and mypy"
	@echo "make lock       renew requirements.lock after a change of pyproject.toml"
	@echo "make clean      remove .venv and everything that was built"
	@echo "ARGS=... is passed on (make report ARGS='--plan llama-2-7b'); PYTHON=... chooses the interpreter."

setup: $(READY)

# uv takes seconds where pip takes minutes; where uv cannot be had, pip installs the same lock.
$(READY): requirements.lock pyproject.toml
	@$(VENV_PYTHON) $(SUITABLE) 2>/dev/null || $(or $(PYTHON),false) $(SUITABLE) 2>/dev/null || { \
	  echo "costkit needs Python 3.11 or newer with its venv module (Debian and Ubuntu: the package python3-venv);" \
	    "name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv (once) ..."
	@$(VENV_PYTHON) $(SUITABLE) 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@if $(VENV_PYTHON) -m pip install -q --disable-pip-version-check uv==$(UV_VERSION) \
	    && $(VENV_PYTHON) -m uv pip sync -q --python $(VENV_PYTHON) --compile-bytecode --require-hashes requirements.lock; \
	  then $(VENV_PYTHON) -m uv pip install -q --python $(VENV_PYTHON) --no-deps --no-build-isolation -e .; \
	  else echo "uv could not install them; pip installs the same packages, in a few minutes." >&2; \
	    $(VENV_PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock \
	    && $(VENV_PYTHON) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .; fi
	@mkdir -p .venv/etc/jupyter/labconfig
	@echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' \
	  > .venv/etc/jupyter/labconfig/page_config.json
	@touch $(READY)

lab: $(READY)
	@echo "Opening the workbook. If no browser appears, copy the address below; Ctrl-C stops it."
	@$(VENV_PYTHON) -m jupyterlab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_plan_on_a_page.ipynb \
	  --ServerApp.port_retries=100 --log-level=$(if $(JUPYTER_TOKEN),INFO,ERROR) \
	  $$(test "$$(id -u)" != 0 || echo --allow-root) $(ARGS)

lint: $(READY)
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m mypy

test: lint
	$(VENV_PYTHON) -m pytest $(ARGS)

report: $(READY)
	$(COSTKIT) report -o reports $(ARGS)

notebooks: $(READY)
	$(COSTKIT) notebooks $(ARGS)

bench: $(READY)
	@for script in benchmarks/row.py benchmarks/bench_*.py; do $(VENV_PYTHON) $$script || exit 1; done

lock: $(READY)
	$(VENV_PYTHON) -m uv pip compile pyproject.toml --extra test --universal --python-version 3.11 \
	  --generate-hashes --no-header -q -o requirements.lock $(ARGS)

clean:
	rm -rf .venv build dist reports .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -prune -exec rm -rf {} +
