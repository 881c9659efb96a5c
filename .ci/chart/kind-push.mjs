// Pushes a person to the bridge of this pod and reads the person back; runs inside the container (kind.sh).
import { readFileSync } from 'node:fs';

/* global fetch */

const token = readFileSync('/etc/scim-bridge/secret/SCIM_TOKEN', 'utf8').trim();
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
const base = 'http://127.0.0.1:8080/scim/v2/Users';
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
const body = JSON.stringify({ schemas, userName: 'ann@acme.example', active: true });
const created = await fetch(base, { method: 'POST', headers, body });
const { id } = await created.json();
const found = await fetch(`${base}/${id}`, { headers });
console.log('created', created.status, 'read', found.status);
if (created.status !== 201 || found.status !== 200) process.exit(1);
