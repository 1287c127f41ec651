<?php
// Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY.

function api(string $path, ?array $body = null, array $headers = []): array
{
    $context = stream_context_create(['http' => [
        'method' => $body === null ? 'GET' : 'POST',
        'header' => ['X-API-Key: ' . getenv('API_KEY'), 'Content-Type: application/json', ...$headers],
        'content' => $body === null ? '' : json_encode($body),
        'timeout' => 60,
        'ignore_errors' => true,
    ]]);
    $answer = json_decode(file_get_contents(getenv('BASE_URL') . $path, false, $context), true);
    if ($answer['status'] !== 'success') {
        throw new RuntimeException("{$answer['error_code']}: {$answer['message']}");
    }
    return $answer['data'];
}

$templates = api('/api/templates?search=hello_campaign&language=en_US&status=APPROVED');
// The same Idempotency-Key never creates a second campaign, so this request can be repeated.
$key = 'Idempotency-Key: ' . bin2hex(random_bytes(16));
$campaign = api('/api/campaigns/auto-trigger', [
    'name' => 'Spring offer',
    'template_id' => $templates[0]['id'],
    'contact_selection_type' => 'quick_contacts',
    'quick_contacts' => ['+4915112345678,Ada', '+4915166131026,Grace'],
    'send_type' => 'IMMEDIATE',
], [$key])['campaign'];
$path = '/api/campaigns/' . $campaign['id'];

while (in_array($campaign['status'], ['DRAFT', 'SCHEDULED', 'RUNNING'], true)) {
    sleep(1);
    $campaign = api($path);
}

echo $campaign['status'], ' ', $campaign['pause_reason'], "\n";
foreach (api($path . '/recipients') as $one) {
    echo $one['phone_number'], ' ', $one['state'], ' ', $one['reason'], "\n";
}
