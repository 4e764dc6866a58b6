/**
 * Takes the pictures of the README from the real editor: the demonstration's workflow, and the panel of the gate.
 *
 *     node scripts/screenshots.mjs          needs Chromium (Debian, Ubuntu: apt-get install chromium); CHROMIUM names another
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { owner } from './n8n/api.mjs';
import { openDemoStage } from './n8n/demo-stage.mjs';
import { demonstrate } from './n8n/demonstration.mjs';
import { root } from './setup/cache.mjs';

const images = path.join(root, 'docs', 'images');
const undo = [];
try {
	const stage = await openDemoStage((action) => undo.push(action));
	const { workflowId } = await demonstrate(stage);
	const browser = await launch();
	undo.push(() => browser.close());
	mkdirSync(images, { recursive: true });
	await photograph(browser, stage.n8n.url, workflowId);
} catch (error) {
	console.error(error.stack);
	process.exitCode = 1;
} finally {
	for (const action of undo.reverse()) await action();
}

async function launch() {
	const { chromium } = await import('playwright-core');
	return await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		headless: true,
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
			'--disable-dev-shm-usage',
		],
	});
}

async function photograph(browser, url, workflowId) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1.5, colorScheme: 'light' });
	await page.route('**/*', (route) => (new URL(route.request().url()).hostname === '127.0.0.1' ? route.continue() : route.abort()));
	await signIn(page, url);
	await page.goto(`${url}/workflow/${workflowId}`);
	await page.locator('[data-test-id="canvas-node"][data-node-name="Idempotency Gate"]').waitFor();
	await page.locator('[data-test-id="zoom-to-fit"]').click();
	// The buttons that float over the canvas would cover what is under them.
	const style = await page.addStyleTag({ content: '[data-test-id="execute-workflow-button"], .vue-flow__panel { visibility: hidden }' });
	await settled(page);
	await page.screenshot({ path: path.join(images, 'workflow.png'), clip: await around(page, '[data-test-id="canvas-node"]', 56) });
	await style.evaluate((element) => element.remove());

	await page.locator('[data-test-id="canvas-node"][data-node-name="Idempotency Gate"]').dblclick();
	await page.getByText('Verify Signature').first().waitFor();
	// Until the list of credentials is there, the panel shows their ids.
	await page.waitForFunction(() => [...document.querySelectorAll('input')].some(({ value }) => value === 'Stripe signing secret'));
	await settled(page);
	await page.screenshot({ path: path.join(images, 'node.png') });
}

/** Through the form: a cookie from elsewhere does not fit the browser's id. */
async function signIn(page, url) {
	await page.goto(`${url}/signin`);
	await page.locator('input[name="emailOrLdapLoginId"], input[type="email"]').first().fill(owner.email);
	await page.locator('input[type="password"]').fill(owner.password);
	await page.locator('[data-test-id="form-submit-button"], button[type="submit"]').first().click();
	await page.waitForURL((address) => !address.pathname.includes('signin'));
}

/** The rectangle that holds everything the selector finds, with a margin. */
async function around(page, selector, margin) {
	const boxes = await page.locator(selector).evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().toJSON()));
	const left = Math.min(...boxes.map(({ left }) => left)) - margin;
	const top = Math.min(...boxes.map(({ top }) => top)) - margin;
	const right = Math.max(...boxes.map(({ right }) => right)) + margin;
	const bottom = Math.max(...boxes.map(({ bottom }) => bottom)) + margin;
	return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Fonts loaded and no transition running: the picture is the final one. */
async function settled(page) {
	await page.evaluate(async () => {
		await document.fonts.ready;
		for (;;) {
			const running = document.getAnimations().filter(({ playState, effect }) => playState === 'running' && effect?.getTiming().iterations !== Infinity);
			if (running.length === 0) return;
			await Promise.allSettled(running.map(({ finished }) => finished));
		}
	});
}
