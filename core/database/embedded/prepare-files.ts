import { writePreparedFiles } from './prepared-files.ts'

// The last step of scripts/bundle.js.
await writePreparedFiles()
