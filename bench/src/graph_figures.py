# Prints, as JSON, how many seconds networkx and igraph take for the figures of a network, and the figures.
import json
import sys
import time

import igraph
import networkx as nx

path, rounds, sample = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
network = nx.read_edgelist(path, nodetype=int)
nodes = sorted(network)
flat = igraph.Graph(n=len(nodes), edges=[(nodes.index(a), nodes.index(b)) for a, b in network.edges()])


def timed(rounds, work):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 2], answer


def listed(figures):
    return [figures[node] for node in nodes]


told = {"networkx": nx.__version__, "igraph": igraph.__version__}
told["nx_pagerank_s"], _ = timed(rounds, lambda: nx.pagerank(network))
told["nx_pagerank_exact_s"], ranks = timed(rounds, lambda: nx.pagerank(network, tol=1e-15, max_iter=1000))
told["ig_pagerank_s"], _ = timed(rounds, flat.pagerank)
told["ig_betweenness_s"], between = timed(3, flat.betweenness)
told["nx_betweenness_s"], _ = timed(1, lambda: nx.betweenness_centrality(network, k=sample or None, seed=1))
pairs = (len(nodes) - 1) * (len(nodes) - 2) / 2
told["pagerank"], told["betweenness"] = listed(ranks), [value / pairs for value in between]
json.dump(told, sys.stdout)
