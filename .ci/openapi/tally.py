"""How each operation of the document was answered, over all passes. Fails if too few were ever answered with success: checks of
refusals alone say little."""

import json
import sys
import urllib.request

SHARE_MIN = 2 / 3

document = json.load(urllib.request.urlopen(sys.argv[1]))
tallies = [json.load(open(path)) for path in sys.argv[2:]]
operations = [f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item]
never = []
for operation in operations:
    classes = {}
    for tally in tallies:
        for status, count in tally.get(operation, {}).items():
            classes[status[0]] = classes.get(status[0], 0) + count
    print(f"{operation:<75} 2xx {classes.get('2', 0):>4}  3xx {classes.get('3', 0):>4}  4xx {classes.get('4', 0):>4}")
    if not classes.get("2"):
        never.append(operation)
done = len(operations) - len(never)
print(f"{done} of {len(operations)} operations were answered with success; never: {', '.join(never) or 'none'}")
sys.exit(done < SHARE_MIN * len(operations))
