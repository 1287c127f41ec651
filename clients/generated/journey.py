import json
import os
import time
from uuid import UUID

import messaging_campaigns as m

configuration = m.Configuration(host=os.environ["BASE_URL"], api_key={"apiKey": os.environ["API_KEY"]})
client = m.ApiClient(configuration)
campaigns, tags, webhooks = m.CampaignsApi(client), m.TagsApi(client), m.WebhooksApi(client)

tag = tags.create_tag(m.CreateTag(name="Python")).data
found = tags.list_tags(search="python").data
creation = m.CreateCampaign(
    name="Python",
    template_id=UUID(os.environ["TEMPLATE_ID"]),
    contact_selection_type=m.ContactSelectionType.QUICK_CONTACTS,
    quick_contacts=["+4915112345711,Ada", "+4915112345712,Grace"],
    send_type=m.SendType.SEND_TYPE_IMMEDIATE,
)
campaign = campaigns.create_campaign(creation).data.campaign
while campaigns.get_campaign(campaign.id).data.status != m.CampaignStatus.CAMPAIGN_STATUS_COMPLETED:
    time.sleep(0.2)
recipients: m.RecipientPage = campaigns.list_campaign_recipients(campaign.id)
file = campaigns.upload_campaign_csv(("people.csv", b"phone,country\n15112345713,49\n")).data
hook = m.CreateWebhook(title="Python", url="https://example.com/hook", events=[m.EventKey.EVENT_KEY_SENT])
webhook = webhooks.create_webhook(hook).data
webhooks.delete_webhook(webhook.id)
try:
    tags.create_tag(m.CreateTag(name=""))
except (ValueError, m.ApiException):
    pass
print(
    json.dumps(
        {
            "tagged": tag.tag_id in [one.tag_id for one in found],
            "recipients": len(recipients.data),
            "headers": file.headers,
            "events": [event.value for event in webhook.events],
        }
    )
)
