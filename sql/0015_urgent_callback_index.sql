-- no-transaction
CREATE INDEX CONCURRENTLY waiting_callback_urgent ON waiting_callback (id) WHERE urgent;
