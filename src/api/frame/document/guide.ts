/** What the document says beside its operations: how to begin, the mapping language, and a real answer for every failure. */

export const guide = `Approved template messages to the contacts of a workspace: campaigns, single sends, contacts and webhooks.

## Begin

1. Take an API key: \`npm start\` prints one and keeps it in \`.data/dev.json\`; an operator makes one with
   \`admin create-key --workspace-id 1001 --scope channel --channel-id …\`. Campaigns and single sends need the key of a channel.
   Send it as \`X-API-Key\`; on this page, press **Authorize**.
2. \`GET /api/templates?status=APPROVED\` lists what may be sent. The examples of this page name a template that \`npm start\` provides.
   Its provider is a simulator: nobody is written to, whatever the number.
3. \`POST /api/campaigns/auto-trigger\` sends by itself. \`GET /api/campaigns/{id}\` tells how far it is: \`DRAFT\` or \`SCHEDULED\`, \`RUNNING\`, then
   \`COMPLETED\`, \`FAILED\` or \`CANCELLED\`; \`PAUSED\` waits for you, and \`…/diagnosis\` says for what. \`…/recipients\` tells who got it (\`ACCEPTED\`, \`SENT\`,
   \`DELIVERED\`, \`READ\`) and why others did not (\`FAILED\`, \`SKIPPED\`).

## Who gets it, and what stands in the text

| \`contact_selection_type\` | needs |
|---|---|
| \`quick_contacts\` | \`quick_contacts\`: the numbers |
| \`csv_contacts\` | \`csv_mapping\`, and \`csv_contacts_string\` or what \`POST /api/campaigns/csv-files\` answered |
| \`segmented\` | \`segments\`: their ids |
| \`failed_contacts\` | \`failed_campaign_id\` |
| \`all_contacts\` | nothing |

A template's variables have positions or names: \`GET /api/templates/{templateId}/variables\` lists them. \`variable_mapping\` fills them.

| a value of \`variable_mapping.body\` | becomes |
|---|---|
| \`firstName\` (also \`lastName\`, \`email\`, \`phoneNumber\`, \`countryCode\`) | the field of the contact |
| \`Dear {{firstName}}\` | text with fields in it |
| \`name_column\`, \`email_column\`, or a name of \`custom_field_mapping\` | the cell of the CSV's row (\`csv_contacts\`) |
| anything else, such as \`20 %\` | that text |

Where a field is empty, \`default_values\` stands in; without one the contact is skipped with \`MISSING_VARIABLE\`.

**Quick contacts** carry their own values: number, separator (\`,\`, \`|\` or \`;\`), then the body's variables in order. They win over the mapping.

    "quick_contacts": ["+4915112345678,Ada,20 %", "+919876543210|Grace, Adm.|10 %"]

**CSV**: columns count from 0. For \`phone,country,name,city\`:

    "csv_mapping": { "phone_column": 0, "country_code_column": 1, "name_column": 2, "custom_field_mapping": { "city": 3 } },
    "variable_mapping": { "body": { "1": "name_column", "2": "city" }, "default_values": { "body": { "2": "your town" } } }

\`POST /api/campaigns/check\` takes the same body as the creation, creates nothing, and tells whom it would reach.`;

export const keyDescription =
  'Printed by `npm start` and kept in `.data/dev.json`; elsewhere an operator makes it with `admin create-key`.';

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
    description: 'Not found, also for what belongs to another workspace',
    message: 'Template not found',
  },
  408: {
    description: 'The request took too long to arrive',
    message: 'The request body took too long to arrive',
  },
  409: {
    description: 'Not possible in the present state, or a request with this Idempotency-Key is still running',
    message: 'The campaign is COMPLETED and cannot be paused',
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
    message: 'This Idempotency-Key was used with another request body',
  },
  429: {
    description:
      'Too many requests; see Retry-After. A body costs one more for each 64 KiB and each 1,000 values',
    message: 'Too many requests',
  },
  500: { description: 'The service failed', message: 'Internal server error' },
  502: {
    description: 'The messaging provider cannot be reached',
    message: 'The messaging provider cannot be reached',
  },
  503: {
    description:
      'The service, or what it needs, is unavailable at the moment, or has no room for one more: body, answer, connection, or export (4 of a workspace)',
    message: 'The service is temporarily unavailable',
  },
};
