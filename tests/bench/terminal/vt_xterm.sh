#!/bin/sh
# xterm.js without a page over the same bytes: --kind N
set -e
tests='@CMAKE_SOURCE_DIR@/tests'
[ -d "$tests/terminal/node_modules" ] || (cd "$tests/terminal" && npm ci --no-audit --no-fund >&2)
"$(dirname "$0")/bench_vt_bytes" "$@" | node "$tests/terminal/bench.js"
