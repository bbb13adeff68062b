#!/usr/bin/env bash
# Wake-up latencies of takt wakeup and of cyclictest in turns, and the cost of causes: takt wakeup without and with --why, in turns.
# Needs root, cyclictest (Debian: rt-tests) and jq. The result is in µs: one line for each turn, and the medians of the turns.
#
#   bench/wakeup.sh [ROUNDS [SECONDS [INTERVAL_US [CORE]]]]
set -euo pipefail
rounds=${1:-8} seconds=${2:-5} interval=${3:-250} core=${4:-1}
takt=${TAKT_BIN:-takt}
options=(--core "$core" --interval "${interval}us" --for "${seconds}s" --priority 80 --json)

of_cyclictest() {
    cyclictest --quiet --mlockall --priority 80 --affinity "$core" --threads 1 --interval "$interval" \
        --loops $((seconds * 1000000 / interval)) --histogram 20000 |
        awk '/^[0-9]+ [0-9]+/ { count[$1 + 0] = $2; sum += $2; if ($1 + 0 > last) last = $1 + 0 }
            END {
                for (time = 0; time <= last; time++) {
                    seen += count[time]
                    if (median == "" && seen * 2 >= sum) median = time
                    if (p99 == "" && seen * 100 >= sum * 99) p99 = time
                }
                print median, p99
            }'
}

of_takt() { "$takt" wakeup "${options[@]}" "$@" | jq -r 'select(.wakeUps) | "\(.medianNs / 1000) \(.p99Ns / 1000)"'; }

for ((round = 0; round < rounds; round++)); do
    echo "cyclictest $(of_cyclictest)"
    echo "takt $(of_takt)"
    # No wake-up is late enough, so that the ring is only written.
    echo "takt-why $(of_takt --why --above 10min)"
done | tee /dev/stderr | awk '
    { n = ++count[$1]; median[$1, n] = $2; p99[$1, n] = $3 }
    function middle(values, name, i, j, swap) {
        for (i = 2; i <= count[name]; i++)
            for (j = i; j > 1 && values[name, j - 1] + 0 > values[name, j] + 0; j--) {
                swap = values[name, j]; values[name, j] = values[name, j - 1]; values[name, j - 1] = swap
            }
        return values[name, int((count[name] + 1) / 2)]
    }
    END { for (name in count) print "median of", count[name], "turns:", name, "median", middle(median, name), "p99", middle(p99, name) }'
