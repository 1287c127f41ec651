/** Text of the document beside its operations: how to begin, the mapping language, and a real answer for every failure. */

export const guide = `Approved template messages to the contacts of a workspace: campaigns, single sends, contacts and webhooks.

## Begin

1. You have an API key from whoever runs this service. It belongs to one sending number (a channel). Send it as \`X-API-Key\`; on this page, press
   **Authorize**. If you run it yourself: \`npm start\` prints one, and \`admin create-key --workspace-id 1001 --scope channel --channel-id …\` makes one.
2. \`GET /api/templates?status=APPROVED\` lists what may be sent, ten a page unless \`limit\` says more. The examples of this page name \`hello_campaign\`
   (\`en_US\`), which \`npm start\` provides; what it starts sends to a simulator, where nobody is written to, whatever the number.
3. \`POST /api/campaigns/auto-trigger\` creates a campaign that sends by itself. \`GET /api/campaigns/{id}\` tells how far it is: \`DRAFT\` or \`SCHEDULED\`,
   \`RUNNING\`, then \`COMPLETED\`, \`FAILED\` or \`CANCELLED\`; \`PAUSED\` waits for you, and \`…/diagnosis\` says for what. \`COMPLETED\` means that nobody is left
   to be sent to: receipts (\`SENT\`, \`DELIVERED\`, \`READ\`) still come. \`…/recipients\` tells who got it, and why others did not (\`FAILED\`, \`SKIPPED\`).
   The creation answers the campaign as \`data.campaign\`, everything after it as \`data\`.
4. A single message is \`POST /api/templates/external/message/send\`. What became of it comes as events (Webhooks, below), and stands with its
   \`messageId\` in \`GET /api/contacts/{id}/export\`.

What this service does not know is not refused: a field or parameter that is misspelt is as good as absent. \`POST /api/campaigns/check\` takes the body of
a creation, creates nothing, and tells whom it would reach, why others are skipped, what it costs, and in \`warnings\` what is hardly meant: such fields,
too. What stands in the way is in \`problems\`; a body that cannot be read is answered 400, as by the creation.

## Who gets it, and what stands in the text

| \`contact_selection_type\` | needs |
|---|---|
| \`quick_contacts\` | \`quick_contacts\`: the numbers; one that is wrong refuses the request |
| \`csv_contacts\` | \`csv_mapping\`, and \`csv_contacts_string\` or what \`POST /api/campaigns/csv-files\` answered; a row that is wrong is skipped |
| \`segmented\` | \`segments\`: their ids. For a tag: \`POST /api/segments\` with a condition on \`tag\` |
| \`failed_contacts\` | \`failed_campaign_id\`; without \`variable_mapping\` each gets the values of that campaign again |
| \`all_contacts\` | nothing |

A template's variables have positions or names: \`GET /api/templates/{templateId}/variables\` lists them. \`variable_mapping\` fills them.

| a value of \`variable_mapping.body\` | becomes |
|---|---|
| \`firstName\` (also \`lastName\`, \`email\`, \`phoneNumber\`, \`countryCode\`), or \`custom.city\` | the field of the contact; \`city\` is the \`fieldId\` of a custom one |
| \`name_column\`, \`email_column\`, or a name of \`custom_field_mapping\` | the cell of the CSV's row (\`csv_contacts\`) |
| \`Dear {{firstName}} from {{city}}\` | text with any of these in it |
| anything else, such as \`20 %\`, \`firstname\` or \`{{town}}\` | that text, as it stands: names are told apart by upper and lower case |

Where a field is empty, \`default_values\` stands in for the whole text; without one the contact is skipped with \`MISSING_VARIABLE\`.
Fields of a contact are read when the message leaves, so a scheduled campaign sends those of that moment; previews, checks and test messages
show the values of now. Cells of a CSV and values of quick contacts stay as they were given.

**Quick contacts** carry their own values: number, separator (\`,\`, \`|\` or \`;\`), then the body's variables in order. They win over the mapping,
which may be left out, and are not kept with the contact.

    "quick_contacts": ["+4915112345678,Ada,20 %", "+919876543210|Grace, Adm.|10 %"]

**CSV**: columns count from 0. For \`phone,country,name,city\`:

    "csv_mapping": { "phone_column": 0, "country_code_column": 1, "name_column": 2, "custom_field_mapping": { "city": 3 } },
    "variable_mapping": { "body": { "1": "name_column", "2": "city" }, "default_values": { "body": { "2": "your town" } } }

A file whose numbers begin with \`+\` and that has no column of countries names the phone's column twice: \`"country_code_column": 0\`. The simulator of
\`npm start\` refuses or loses a message by the last digits of its number (\`+4915166131026\` is refused with 131026).

Numbers of quick contacts and of a CSV become contacts of the workspace. Of one that is known only empty fields are filled; \`firstName\` is the
contact's, \`name_column\` the row's. A name is split at its first space.

## A request again

Campaigns and single sends take an \`Idempotency-Key\` of yours: with the same key and the same bytes the first answer comes again for 24 hours, with
\`Idempotent-Replayed: true\`; other bytes get 422, and while the first runs 409. Refused requests (400 to 404) are not kept: mend the body and send it again.
So the same request may be sent again after a cut connection, a 429 or a 503; after the 502 of a single send it gets the same 502, as the message may have
left. Elsewhere the header is not looked at.

## Webhooks

\`POST /api/external-webhooks\` names an address and events; each event arrives as one POST, is tried once for five seconds, and can be sent again from
the log. With a secret it is signed as [Standard Webhooks](https://www.standardwebhooks.com) say: \`webhook-signature\` is \`v1,\` and the Base64 of the
HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`, the body byte by byte as it came; for 24 hours after a change of secret there are two with a
space between, of which one must fit. Refuse a timestamp that is more than five minutes off. The key is what follows
\`whsec_\`, decoded from Base64; of a secret of any other form its UTF-8 bytes. \`X-Webhook-Signature-256\` is \`sha256=\` and the hex HMAC over the body alone,
for receivers that know no other. \`data.messageId\`, \`data.campaignId\` and \`data.contactId\` say whose message an event
tells of; \`GET /api/messages/{id}\` reads a single send or a reply. \`failed\` comes once for every message that fails, also where the provider refuses it at once.

## Limits

| what | at most | beyond it |
|---|---|---|
| requests of a key | a rate that the operator sets, for a moment twice as many; a body costs one more for each 64 KiB and each 1,000 values | 429 |
| refused keys, documents without a key, of an address | 100 a second; 8 MiB a second | 429 |
| a JSON body, inflated | 1 MiB, 100,000 values, 64 levels; of a campaign 32 MiB and 2,500,000 values | 413, 400 |
| a head, a JSON body, a whole request on its way | 10 s, 30 s, 10 minutes | 408 |
| bodies and large answers at a time | 256 MiB, half of them one workspace's | 503 |
| reads and exports of a workspace at a time | half of the connections, where others wait in line; 4 exports | 503 |
| a list by page, by cursor | 100,000 rows deep; 4 MiB a page | 400; the cursor goes on |
| a segment | 64 KiB, 50 conditions; 1,000 segments; of one campaign 100 with 10,000 values | 400 |
| a contact | 200 fields of 5,000 characters, 1,000 tags | 400 |
| webhooks | 50 | 400 |
| files of a campaign | 256 MiB each; 10,000 and 10 GiB | 413 |
| an answer of which nothing is read | 30 s | cut |

Generated clients: oapi-codegen leaves out what only events use unless \`output-options: skip-prune: true\`. \`clients/typescript\` needs no generator.`;

export const keyDescription =
  'From whoever runs this service, who makes it with `admin create-key`; `npm start` prints one and keeps it in `.data/dev.json`.';

interface Failure {
  readonly description: string;
  readonly message: string;
  readonly error?: unknown;
}

export const failures: Readonly<Record<number, Failure>> = {
  400: {
    description:
      'The request is not valid; `error` lists the fields. A body of up to 1 MiB holds 100,000 values, nested 64 levels deep',
    message: 'Campaign name is required',
    error: [{ field: 'name', message: 'Campaign name is required' }],
  },
  401: {
    description: 'Missing or invalid credentials',
    message: 'Unauthorized access: Invalid or missing authentication credentials.',
  },
  403: { description: 'Refused', message: 'The verify token is not valid' },
  404: {
    description: 'Not found, also what belongs to another workspace and what is no UUID; lists tell the ids',
    message: 'Template not found',
  },
  408: {
    description: 'The request took too long to arrive',
    message: 'The request body took too long to arrive',
  },
  409: {
    description: 'Not possible in the present state, or a request with this Idempotency-Key is still running',
    message: 'The campaign is COMPLETED and cannot be paused: it has ended, create another',
  },
  413: {
    description:
      'The body is too large, or the workspace keeps as many files as it may (10,000, and 10 GiB unless set otherwise)',
    message: 'The file must not be larger than 268435456 bytes',
  },
  415: {
    description: 'The media type or the content encoding of the body is not supported',
    message: 'Content-Type must be application/json',
  },
  422: {
    description: 'The Idempotency-Key was used with another body',
    message: 'This Idempotency-Key was used with another request body: send that one, or a new key',
  },
  429: {
    description:
      'Too many requests; see Retry-After. A body costs one more for each 64 KiB and each 1,000 values',
    message: 'Too many requests: try again in 1 s',
  },
  500: { description: 'The service failed', message: 'Internal server error: its log has this X-Request-Id' },
  502: {
    description: 'The messaging provider cannot be reached',
    message: 'The messaging provider cannot be reached: try again later',
  },
  503: {
    description:
      'The service, or what it needs, is unavailable at the moment, or has no room for one more: body, answer, connection, or export (4 of a workspace)',
    message: 'The service is temporarily unavailable: try again in 1 s',
  },
};
