import { claimPanel } from './claim';
import { type Panel, propertiesOf } from './panel';

/** Every operation that exists, also for `operations/index.ts`. The editor sorts them by name. */
export const panels: readonly Panel[] = [claimPanel];

export const properties = propertiesOf(panels);

/** Claim alone checks signatures. */
export const withoutSignature = panels.map(({ operation }) => operation).filter((operation) => operation !== 'claim');
