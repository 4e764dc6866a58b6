import { claimPanel } from './claim';
import { outboxPanels } from './outbox';
import { ownerPanels } from './ownerPanels';
import { type Panel, propertiesOf } from './panel';
import { recordPanels } from './recordPanels';
import { recoverPanel } from './recovery';

/** Every operation that exists, also for `operations/index.ts`. The editor sorts them by name. */
export const panels: readonly Panel[] = [claimPanel, ...ownerPanels, ...recordPanels, ...outboxPanels, recoverPanel];

export const properties = propertiesOf(panels);

/** Claim alone checks signatures. */
export const withoutSignature = panels.map(({ operation }) => operation).filter((operation) => operation !== 'claim');
