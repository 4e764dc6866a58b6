/**
 * The packed package as a community package in a real n8n, workflows published, real HTTP deliveries. Starting n8n takes
 * longer than most tests, so one n8n serves all groups.
 */
import { afterAll, beforeAll } from 'vitest';
import { packPackage } from '../../scripts/setup/tools.mjs';
import { openStage, type Stage } from '../harness/stage';
import { comparison } from './comparison';
import { crashes } from './crashes';
import { identity } from './identity';
import { lifecycleTemplates } from './lifecycle-templates';
import { lostAnswers } from './lost-answers';
import { outage } from './outage';
import { refusals } from './refusals';
import { retriedExecutions } from './retried-executions';
import { simultaneousDeliveries } from './simultaneous-deliveries';
import { templates } from './templates';

let stage: Stage | undefined;

beforeAll(async () => {
	stage = await openStage({ tarball: await packPackage() });
});

afterAll(async () => {
	await stage?.close();
});

const current = (): Stage => {
	if (!stage) throw new Error('n8n did not start');
	return stage;
};

simultaneousDeliveries(current);
refusals(current);
identity(current);
outage(current);
templates(current);
lifecycleTemplates(current);
retriedExecutions(current);
lostAnswers(current);
comparison(current);
// Last, since it takes n8n away from everybody.
crashes(current);
