/** The part of n8n's REST interface that the demo and the tests need. It is the editor's own, so it may change with n8n. */
import { setTimeout as pause } from 'node:timers/promises';
import { parseFlatted } from './flatted.mjs';

export const owner = { email: 'owner@example.com', firstName: 'Gate', lastName: 'Keeper', password: 'Idempotent-1' };

/** An n8n workflow as exported from the editor. @typedef {{ name: string, nodes: readonly object[], connections: object, settings?: object }} Workflow */

export class N8nApi {
	#url;
	#cookie = '';

	constructor(url) {
		this.#url = url;
	}

	/** Creates the owner of a new n8n and logs in. */
	async setUpOwner() {
		await this.#call('POST', '/rest/owner/setup', owner);
		if (!this.#cookie) await this.#call('POST', '/rest/login', { emailOrLdapLoginId: owner.email, password: owner.password });
	}

	/** Returns `{ id, name }`, the form in which a node refers to it. */
	async createCredential(type, name, data) {
		const { id } = await this.#call('POST', '/rest/credentials', { type, name, data });
		return { id, name };
	}

	/** Returns the new workflow's id. @param {Workflow} workflow */
	async createWorkflow({ name, nodes, connections, settings = {} }) {
		const body = { name, nodes, connections, settings: { executionOrder: 'v1', ...settings }, active: false };
		const { id } = await this.#call('POST', '/rest/workflows', body);
		return id;
	}

	/** Publishes a workflow and waits until each of its webhooks takes requests, which is a moment after n8n says so. */
	async activate(id) {
		const { versionId } = await this.#call('GET', `/rest/workflows/${id}`);
		await this.#call('POST', `/rest/workflows/${id}/activate`, { versionId });
		await this.live(id);
	}

	/** Waits until each webhook of a published workflow takes requests. */
	async live(id) {
		const { nodes } = await this.#call('GET', `/rest/workflows/${id}`);
		for (const { type, parameters } of nodes) {
			if (type === 'n8n-nodes-base.webhook') await this.#live(parameters.path);
		}
	}

	async deactivate(id) {
		await this.#call('POST', `/rest/workflows/${id}/deactivate`, {});
	}

	async deleteWorkflow(id) {
		await this.deactivate(id);
		await this.#call('POST', `/rest/workflows/${id}/archive`, {});
		await this.#call('DELETE', `/rest/workflows/${id}`);
	}

	/** Executions of a workflow, newest first, without their data; n8n gives at most 100. */
	async executions(workflowId) {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.#call('GET', `/rest/executions?filter=${filter}&limit=100`);
		return results;
	}

	/** Goes on with a failed execution from the node that failed, as the button Retry does; ends when that has ended. */
	async retry(executionId) {
		await this.#call('POST', `/rest/executions/${executionId}/retry`, { loadWorkflow: false });
	}

	/** One execution with what every node was given and put out. */
	async execution(id) {
		const found = await this.#call('GET', `/rest/executions/${id}`);
		return { ...found, data: typeof found.data === 'string' ? parseFlatted(found.data) : found.data };
	}

	/** A GET on a POST webhook has no effect, and its 404 tells a webhook that is live from one that is not there yet. */
	async #live(path) {
		const deadline = Date.now() + 30_000;
		for (;;) {
			const response = await fetch(`${this.#url}/webhook/${path}`);
			const text = await response.text();
			if (/Did you mean to make a POST request/.test(text)) return;
			if (Date.now() > deadline) throw new Error(`The webhook ${path} did not become live: ${response.status} ${text.slice(0, 300)}`);
			await pause(50);
		}
	}

	async #call(method, route, body) {
		const headers = { 'content-type': 'application/json', 'browser-id': 'scripts', ...(this.#cookie && { cookie: this.#cookie }) };
		const response = await fetch(this.#url + route, { method, headers, ...(body && { body: JSON.stringify(body) }) });
		const cookies = response.headers.getSetCookie();
		if (cookies.length > 0) this.#cookie = cookies.map((cookie) => cookie.split(';')[0]).join('; ');
		const text = await response.text();
		if (!response.ok) throw new Error(`n8n: ${method} ${route} answered ${response.status}: ${text.slice(0, 500)}`);
		const answer = JSON.parse(text);
		return answer.data ?? answer;
	}
}
