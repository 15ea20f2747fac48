#!/bin/sh
# A figure of the pages, measured in Chromium: tests/browser/bench/@BENCH_FILE@.ts. We stay beside Node, so that it is told
# to stop its server and its browser when we are killed in whatever way.
tree='@CMAKE_SOURCE_DIR@'
built=$tree/tests/browser/built/bench/@BENCH_FILE@.js

is_built() {
	[ -e "$built" ] && [ -z "$(find "$tree/tests/browser/bench" "$tree/tests/browser/test" "$tree/clients/js/src" \
		"$tree/clients/js/test" -name '*.ts' -newer "$built")" ]
}

is_built || (cd "$tree" && npm run --silent build -w tests/browser >&2) || exit
export SANDBAR_BIN="${SANDBAR_BIN:-@CMAKE_RUNTIME_OUTPUT_DIRECTORY@}" SANDBAR_BENCH='@CMAKE_BINARY_DIR@/tests/bench'
setpriv --pdeathsig TERM node "$built" "$@" &
node=$!
trap 'kill "$node" 2>/dev/null' TERM INT
while :; do
	wait "$node"
	status=$?
	kill -0 "$node" 2>/dev/null || exit "$status"
done
