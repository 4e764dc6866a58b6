/** n8n's settings for the demo and the tests: on the loopback only, no call to the outside, its own data in one folder. */

/**
 * @typedef {object} Place
 * @property {string} userFolder   n8n makes its `.n8n` folder in here
 * @property {number} port         editor, REST and webhooks
 * @property {number} brokerPort   between n8n and its task runners
 * @property {string} databaseUrl  n8n's own database; an empty one is filled at the first start
 */

/** @param {Place} place */
export function n8nSettings({ userFolder, port, brokerPort, databaseUrl }) {
	return {
		...ownData(userFolder, databaseUrl),
		...loopback(port, brokerPort),
		...noOutboundCalls,
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		N8N_LOG_LEVEL: 'info',
		GENERIC_TIMEZONE: 'UTC',
		TZ: 'UTC',
	};
}

function ownData(userFolder, databaseUrl) {
	const url = new URL(databaseUrl);
	return {
		N8N_USER_FOLDER: userFolder,
		N8N_ENCRYPTION_KEY: 'demo-and-tests-only-no-real-secret-is-kept-here',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: url.hostname,
		DB_POSTGRESDB_PORT: url.port || '5432',
		DB_POSTGRESDB_USER: decodeURIComponent(url.username),
		DB_POSTGRESDB_PASSWORD: decodeURIComponent(url.password) || 'unused',
		DB_POSTGRESDB_DATABASE: decodeURIComponent(url.pathname.slice(1)),
		DB_POSTGRESDB_POOL_SIZE: '10',
		// On a machine that is busy n8n would take its database for gone, and answer 503 to everybody.
		DB_PING_TIMEOUT_MS: '60000',
	};
}

function loopback(port, brokerPort) {
	return {
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_HOST: '127.0.0.1',
		N8N_PROTOCOL: 'http',
		N8N_PORT: String(port),
		N8N_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		// A cookie marked secure would not come back over plain http.
		N8N_SECURE_COOKIE: 'false',
	};
}

const noOutboundCalls = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	// The first one asks n8n's own server for a list at every start; the others are not needed.
	N8N_DISABLED_MODULES: 'mcp-registry,chat-hub,instance-ai,agents,insights',
};
