/** What scripts/laws.mjs needs, in one place to bundle. */
export { cannotRun, storeLaws } from '../../node-package/src/testing/store-laws';
export { openPostgresWorld } from './postgres-world';
