"""Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY."""

import json
import os
import time
import uuid
from urllib.request import Request, urlopen


def api(path, body=None, **headers):
    headers = {"X-API-Key": os.environ["API_KEY"], "Content-Type": "application/json", **headers}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(os.environ["BASE_URL"] + path, data, headers), timeout=60) as response:
        return json.load(response)


templates = api("/api/templates?search=hello_campaign&language=en_US&status=APPROVED")["data"]
creation = {
    "name": "Spring offer",
    "template_id": templates[0]["id"],
    "contact_selection_type": "quick_contacts",
    "quick_contacts": ["+4915112345678,Ada", "+4915166131026,Grace"],
    "send_type": "IMMEDIATE",
}
# The same Idempotency-Key never creates a second campaign, so this request can be repeated.
created = api("/api/campaigns/auto-trigger", creation, **{"Idempotency-Key": str(uuid.uuid4())})
path = "/api/campaigns/" + created["data"]["campaign"]["id"]

while (campaign := api(path)["data"])["status"] in ("DRAFT", "SCHEDULED", "RUNNING"):
    time.sleep(1)

print(campaign["status"], campaign["pause_reason"] or "")
for recipient in api(path + "/recipients")["data"]:
    print(recipient["phone_number"], recipient["state"], recipient["reason"] or "")
