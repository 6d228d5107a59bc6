import { readFileSync } from 'node:fs'

// Prints the vulnerable packages of `npm audit --json` that are bundled; exit code 1 if one is of severity high or critical.
//   node scripts/audit-bundled.js audit.json dist/THIRD-PARTY.md
const [audit, list] = process.argv.slice(2)
const { vulnerabilities } = JSON.parse(readFileSync(audit, 'utf8'))
const bundled = Array.from(readFileSync(list, 'utf8').matchAll(/^\| (\S+) \|/gm), ([, name]) => name)
const found = bundled.flatMap(name => vulnerabilities[name] ?? [])
process.stdout.write(found.map(({ name, severity }) => `${name} (${severity})`).join(', '))
if (found.some(({ severity }) => severity === 'high' || severity === 'critical')) process.exitCode = 1
