"""Python's side of bench/overlap.js: bag F1 by jieba in so many processes, timed a round at a time.

overlap.py PROCESSES; each line of stdin is a list of [candidate, gold], each line of stdout
[seconds, CPU seconds of this process, scores].
"""

import collections
import json
import multiprocessing
import sys
import time

import jieba


def bag_f1(pair):
    candidate, gold = (jieba.lcut(text) for text in pair)
    common = sum((collections.Counter(candidate) & collections.Counter(gold)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(candidate), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def main(processes):
    jieba.setLogLevel(60)
    jieba.initialize()
    # Forked after the dictionary was loaded, as jieba's own parallel mode does.
    pool = multiprocessing.get_context("fork").Pool(processes) if processes > 1 else None
    print("ready", flush=True)
    for line in sys.stdin:
        pairs = json.loads(line)
        started, cpu = time.perf_counter(), time.process_time()
        if pool:
            scores = pool.map(bag_f1, pairs, chunksize=max(1, len(pairs) // (4 * processes)))
        else:
            scores = [bag_f1(pair) for pair in pairs]
        took = [time.perf_counter() - started, time.process_time() - cpu]
        print(json.dumps([*took, scores]), flush=True)
    if pool:
        pool.terminate()


if __name__ == "__main__":
    main(int(sys.argv[1]))
