# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Instructions that guest programs have counted with guest/samples.h."""

import sys


def figures(path):
    """{name: {sleeps: (instructions, runs)}}"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for name, sleeps, instructions, runs in map(str.split, file):
            found.setdefault(name, {})[int(sleeps)] = (float(instructions), int(runs))
    return found


def equal_sleeps(mine, base, name):
    """The sleeps that most runs of both have in common."""
    both = set(mine) & set(base)
    if not both:
        sys.exit(f"bench: {name}: no runs slept equally often: {sorted(mine)} and {sorted(base)}")
    return max(both, key=lambda n: min(mine[n][1], base[n][1]))


def line(promises, name, mine, base, words, allowed, own="ours"):
    """A promise, or without one the ratio alone"""
    sleeps = equal_sleeps(mine, base, name)
    ours, theirs = mine[sleeps], base[sleeps]
    text = f"{name}, times {words}"
    if allowed:
        promises.at_most(text, ours[0] / theirs[0], allowed)
        promises.figures("instructions", (words, theirs[0]), (own, ours[0]))
    else:
        print(f"{text:58} {'':>12} {ours[0] / theirs[0]:>12.4g}")
    print(f"    instructions: {ours[0]:.0f}, {words} {theirs[0]:.0f}; slept {sleeps} times in {ours[1]} "
          f"and {theirs[1]} runs")
