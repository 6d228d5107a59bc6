import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The package's root folder. Both core/base/ (sources) and dist/run/ (build) are two levels below it. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url))

const manifest: { version: string } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'))

export const PRODUCT_VERSION = manifest.version
