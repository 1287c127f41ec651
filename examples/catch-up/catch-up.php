<?php
// Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE.

$file = getenv('CURSOR_FILE');
$cursor = is_file($file) ? file_get_contents($file) : null;
$context = stream_context_create(['http' => [
    'header' => ['X-API-Key: ' . getenv('API_KEY')],
    'timeout' => 60,
    'ignore_errors' => true,
]]);

do {
    $query = http_build_query(['limit' => 1000] + ($cursor === null ? [] : ['after' => $cursor]));
    $page = json_decode(file_get_contents(getenv('BASE_URL') . "/api/events?$query", false, $context), true);
    if ($page['status'] !== 'success') {
        throw new RuntimeException("{$page['error_code']}: {$page['message']}");
    }
    foreach ($page['data'] as $event) {
        // Skip ids that the webhook brought already.
        echo $event['id'], ' ', $event['body']['eventKey'], "\n";
    }
    $cursor = $page['pagination']['nextCursor'];
    file_put_contents($file, $cursor);
} while ($page['pagination']['hasMore']);
