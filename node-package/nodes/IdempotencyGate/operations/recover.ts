import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { loadCore } from '../../../src/index';
import { openStore } from '../connect/store';
import { handOut } from '../handOut';
import { Parameters } from '../parameters';
import { endedItem, readRecoveryRules, recoveredItem } from '../recovery';

/** Takes over events that nobody works on any more, and hands out their deliveries once again. */
export async function recover(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return await handOut(context, async (run) => {
		const rules = readRecoveryRules(new Parameters(context, 0), run.test);
		const store = await openStore(context);
		const records = await store.recover({
			...rules,
			owners: Array.from({ length: rules.limit }, () => loadCore().newToken()),
			executionId: run.executionMark,
		});
		if (records.length === 0 && rules.tests) addTestHint(context);
		const handedOut = records.flatMap((record) => recoveredItem(record, run.resultField) ?? []);
		const ended = records.flatMap((record) => (record.owner === null ? [endedItem(record, run.resultField)] : []));
		return [handedOut, ended];
	});
}

function addTestHint(context: IExecuteFunctions): void {
	const message =
		"A test recovers events of tests only, and there are none to recover. To take over events of production, set 'Test Executions' to 'Same as Production'";
	context.addExecutionHints({ message, location: 'outputPane' });
}
