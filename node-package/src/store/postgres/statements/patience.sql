-- Bounds the wait for a lock, until the end of the transaction only: no state is left on a pooled connection.
SELECT set_config('lock_timeout', $1, true)
