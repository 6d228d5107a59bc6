import { existsSync } from 'node:fs'

/** `CHROMIUM`, or where the packages of distributions put it. The one without windows takes half of the processor time. */
const PATHS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** The path of Chromium's program; undefined: it is not installed. */
export const findChromium = (): string | undefined =>
  PATHS.find(path => path !== undefined && existsSync(path))
