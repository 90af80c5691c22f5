"""What sqlglot takes for the same predicates: python predicates_sqlglot.py FLAVOUR, predicates on stdin, a line each.

Parse one expression, visit every node, render it: the least of some rounds, µs each, a line each; `-` where it cannot.
"""

import sys
import time

import sqlglot
from sqlglot import errors

ROUNDS = 20
flavour = sys.argv[1]


def check(text):
    tree = sqlglot.parse_one(text, dialect=flavour, into=sqlglot.exp.Condition)
    for _ in tree.walk():
        pass
    return tree.sql(dialect=flavour)


def least(text):
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        check(text)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


for line in sys.stdin:
    try:
        print(f"{least(line.rstrip(chr(10))):.1f}")
    except errors.SqlglotError:
        print("-")
