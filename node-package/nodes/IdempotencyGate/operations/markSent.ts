import { endMessages } from '../outbox/endMessages';

/** The message has been sent, and is not handed out again. */
export const markSent = endMessages(() => ({ state: 'sent' }));
