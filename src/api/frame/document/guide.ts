/** Introduction of the document: first steps, the mapping language, and an example of every error. */
import type { ErrorCode } from '../../../domain/error-code.ts';

export const guide = `Sends approved template messages to the contacts of a workspace: campaigns, single sends, contacts and webhooks.

## First steps

1. Get an API key from the operator of this service. It belongs to one sending number (a channel). Send it as \`X-API-Key\`; on this page, press
   **Authorize**. If you are the operator: \`npm start\` prints a key, and \`admin create-key --workspace-id 1001 --scope channel --channel-id …\` creates one.
2. \`GET /api/templates?status=APPROVED\` lists the templates you can send. The examples on this page use \`hello_campaign\` (\`en_US\`), which \`npm start\`
   provides. \`npm start\` sends to a simulator: no real person receives anything.
3. \`POST /api/campaigns/auto-trigger\` creates a campaign, which then sends by itself. \`GET /api/campaigns/{id}\` returns its status: \`DRAFT\` or \`SCHEDULED\`,
   \`RUNNING\`, then \`COMPLETED\`, \`FAILED\` or \`CANCELLED\`. \`PAUSED\` waits for you; \`…/diagnosis\` says why. \`COMPLETED\` means that no recipient is left to
   send to; receipts (\`SENT\`, \`DELIVERED\`, \`READ\`) still arrive. \`…/recipients\` lists the state of each recipient, and the reason for \`FAILED\` and
   \`SKIPPED\`. The creation returns the campaign as \`data.campaign\`, other requests as \`data\`.
4. \`POST /api/templates/external/message/send\` sends a single message. Events report its outcome (see Webhooks), and \`GET /api/messages/{id}\` returns it.

Unknown fields and parameters are ignored, misspelt ones included. \`POST /api/campaigns/check\` finds them before you send: it takes the body of a
creation, creates nothing, and returns the number of recipients, the reasons for skipping, the cost, \`problems\` that prevent the campaign, and
\`warnings\` about probable mistakes.

## Recipients and variables

| \`contact_selection_type\` | requires |
|---|---|
| \`quick_contacts\` | \`quick_contacts\`: phone numbers; an invalid one refuses the request |
| \`csv_contacts\` | \`csv_mapping\`, and \`csv_contacts_string\` or the key from \`POST /api/campaigns/csv-files\`; an invalid row is skipped |
| \`segmented\` | \`segments\`: ids, or \`contact_filters\` with conditions, for example on \`tag\` or on what became of another campaign |
| \`failed_contacts\` | \`failed_campaign_id\`; without \`variable_mapping\` each recipient gets the values of that campaign |
| \`all_contacts\` | nothing |

The variables of a template have positions or names: \`GET /api/templates/{templateId}/variables\` lists them. \`variable_mapping\` fills them.

| value in \`variable_mapping.body\` | is replaced by |
|---|---|
| \`firstName\` (also \`lastName\`, \`email\`, \`phoneNumber\`, \`countryCode\`), or \`custom.city\` | the field of the contact; \`city\` is the \`fieldId\` of a custom field |
| \`name_column\`, \`email_column\`, or a name from \`custom_field_mapping\` | the cell of the CSV row (\`csv_contacts\`) |
| \`Dear {{firstName}} from {{city}}\` | the text with its fields filled in |
| anything else, such as \`20 %\`, \`firstname\` or \`{{town}}\` | this text, unchanged: names are case-sensitive |

If a field is empty, \`default_values\` replaces the whole text; without a default the recipient is skipped with \`MISSING_VARIABLE\`.
Texts inside \`flow_action_data\`, section titles and product ids are filled in the same way. A name that is nearly a field is a warning in the answer.
The provider limits every filled text (a body 1,024 characters, of an offer 600, of a carousel card 160; a text header 60): a recipient whose values
make one longer is skipped with \`TEXT_TOO_LONG\`. The file of a media link that all recipients share is fetched once, before anybody is written to.
Contact fields are read when the message is sent, so a scheduled campaign uses the values of that time; previews, checks and test messages
use the present values. CSV cells and the values of quick contacts do not change.

**Quick contacts** can carry values: number, separator (\`,\`, \`|\` or \`;\`), then the variables of the body in order. These values take precedence over
the mapping, which is then optional, and are not stored with the contact.

    "quick_contacts": ["+4915112345678,Ada,20 %", "+919876543210|Grace, Adm.|10 %"]

**CSV** columns count from 0. For \`phone,country,name,city\`:

    "csv_mapping": { "phone_column": 0, "country_code_column": 1, "name_column": 2, "custom_field_mapping": { "city": 3 } },
    "variable_mapping": { "body": { "1": "name_column", "2": "city" }, "default_values": { "body": { "2": "your town" } } }

If all numbers begin with \`+\` and the file has no country column, repeat the phone column: \`"country_code_column": 0\`. For local
numbers without a country column add \`"default_country": "DE"\`, in \`csv_mapping\` or next to \`quick_contacts\`. The simulator of
\`npm start\` refuses numbers whose last eight digits are \`66\` and a code of the provider: \`+4915166131026\` with code 131026.

The numbers of quick contacts and CSVs become contacts of the workspace. For an existing contact only empty fields are filled. \`firstName\` is the
contact's value, \`name_column\` the row's. A name is split at its first space; \`Smith, John\` names the last name
first.

## Retries

Send an \`Idempotency-Key\` when you create a campaign, a webhook, a segment or a tag, send a single message or recharge. For 24 hours the same key
with the same bytes returns the stored response with \`Idempotent-Replayed: true\`. Other bytes get 422; while the first request runs, 409. Refused
requests (400 to 404) are not stored: correct the body and send it again. With a key you can safely repeat a request after a cut connection, a 429
or a 503. A 502 \`outcome_unknown\` of a single send is stored, because the message may have been sent. Other operations ignore the header.

## Webhooks

\`POST /api/external-webhooks\` registers an address for events. Each event is one POST with a single attempt of five seconds; the delivery log can resend
it. With a secret it is signed as [Standard Webhooks](https://www.standardwebhooks.com) defines: \`webhook-signature\` is \`v1,\` and the Base64 of
HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`, where body is the received bytes. For 24 hours after a change of secret the header holds two
signatures, separated by a space; one must match. Refuse timestamps more than five minutes off. The HMAC key is the Base64 after \`whsec_\`, or the
UTF-8 bytes of any other secret. \`X-Webhook-Signature-256\` is \`sha256=\` and the hex HMAC of the body alone. \`data.messageId\`, \`data.campaignId\` and
\`data.contactId\` identify the message; \`GET /api/messages/{id}\` returns it. Each failed message causes one \`failed\` event, also if the provider
refuses it at once.

## Limits

| limit | value | beyond it |
|---|---|---|
| requests per key | rate set by the operator, bursts of twice as many; a body counts one more per 64 KiB and per 1,000 values, a response per 64 KiB, that of a change per 16 KiB | 429 |
| refused keys per address; documents without a key | 100 per second; 8 MiB per second | 429 |
| JSON body after decompression | 1 MiB, 100,000 values, 64 levels; for a campaign 8 MiB and 2,500,000 values, beyond 1 MiB 100,000 of them outside of the lists that are members of the body | 413, 400 |
| time to receive headers, a JSON body, a whole request | 10 s, 30 s, 10 minutes | 408 |
| bodies and large responses in memory | 256 MiB, half of it per workspace | 503 |
| database connections and exports per workspace | half of a process's, others wait up to 15 s; 4 exports | 503 |
| texts | no NUL characters, no lone surrogates | 400 |
| list by page; by cursor | 100,000 rows deep; 1 MiB per page | 400; continue with the cursor |
| segments | 64 KiB and 50 conditions each; 1,000 per workspace; per campaign 100 with 10,000 values | 400 |
| contact | 200 custom fields of 5,000 characters, 64 KiB of them in all, 1,000 tags | 400 |
| \`variable_mapping\` and the stored audience of a campaign | 256 KiB together | 400 |
| webhooks | 50 | 400 |
| files for campaigns | 256 MiB each; 10,000 files and 10 GiB | 413 |
| response that the client does not read | 30 s | connection cut |

The TypeScript client \`clients/typescript\` needs no generator. In any language, \`WebhookEvent\` decodes the body of a webhook request.
This service also serves a summary for language models (\`/llms.txt\`). Postman imports \`/openapi.json\`.`;

export const keyDescription =
  'The operator of this service creates it with `admin create-key`; `npm start` prints one and stores it in `.data/dev.json`.';

interface Failure {
  readonly description: string;
  /** If absent, the code of the status. */
  readonly errorCode?: ErrorCode;
  readonly message: string;
  readonly error?: unknown;
}

export const failures: Readonly<Record<number, Failure>> = {
  400: {
    description:
      'The request is invalid; `error` lists the fields. A JSON body may have 1 MiB, 100,000 values and 64 levels',
    errorCode: 'name_required',
    message: 'Campaign name is required',
    error: [{ field: 'name', message: 'Campaign name is required' }],
  },
  401: {
    description: 'Missing or invalid credentials',
    message: 'Unauthorized access: Invalid or missing authentication credentials.',
  },
  403: { description: 'Forbidden', message: 'The verify token is not valid' },
  404: {
    description: 'The record does not exist, belongs to another workspace, or the id is not a UUID',
    errorCode: 'template_not_found',
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
  410: {
    description: 'Events after the cursor are no longer kept',
    errorCode: 'cursor_expired',
    message: 'Events after this cursor are no longer kept: continue with error.oldestCursor',
  },
  413: {
    description:
      'The body is too large, or the workspace has reached its limit of files (default 10,000 and 10 GiB)',
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
      'Too many requests; wait for Retry-After. A body counts as one more request per 64 KiB and per 1,000 values',
    message: 'Too many requests: try again in 1 s',
  },
  500: { description: 'The service failed', message: 'Internal server error: its log has this X-Request-Id' },
  502: {
    description: 'The messaging provider cannot be reached',
    message: 'The messaging provider cannot be reached: try again later',
  },
  503: {
    description:
      'The service is unavailable, or busy with as many bodies, responses, connections or exports (4 per workspace) as it allows',
    message: 'The service is temporarily unavailable: try again in 1 s',
  },
};
