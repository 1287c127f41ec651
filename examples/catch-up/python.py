"""Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE."""

import json
import os
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

file = Path(os.environ["CURSOR_FILE"])
cursor = file.read_text() if file.exists() else None
has_more = True

while has_more:
    query = {"limit": 1000} if cursor is None else {"limit": 1000, "after": cursor}
    url = f"{os.environ['BASE_URL']}/api/events?{urlencode(query)}"
    with urlopen(Request(url, headers={"X-API-Key": os.environ["API_KEY"]}), timeout=60) as response:
        page = json.load(response)
    for event in page["data"]:
        # Skip ids that the webhook brought already.
        print(event["id"], event["body"]["eventKey"])
    cursor = page["pagination"]["nextCursor"]
    has_more = page["pagination"]["hasMore"]
    file.write_text(cursor)
