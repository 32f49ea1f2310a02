#!/usr/bin/env bash
# Run a command as a new user would: in a fresh clone of HEAD in a temporary folder named evidentia, with no environment
# and no data. Usage: ci/bare.sh make test
set -euo pipefail
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet --no-hardlinks "$source" "$folder/evidentia"
cd "$folder/evidentia"
# Neither data nor settings of the tree it came from, nor downloads that somebody made earlier.
unset PYTHONPATH EVIDENTIA_DATA EVIDENTIA_REQUIRE_DATA EVIDENTIA_REQUIRE_BROWSER MAKEFLAGS MFLAGS MAKELEVEL VIRTUAL_ENV
EVIDENTIA_CACHE=$folder/downloads "$@"
