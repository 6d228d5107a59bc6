import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { printGrammar } from './compile-grammar.ts'
import { printedFile } from './grammar.ts'
import { readProjectSchema, readSchemaText } from './project-schema.ts'

// The last step of `npm run build`: generates the validator that `openGrammar` loads.
const file = printedFile(readSchemaText())
const folder = dirname(file)
for (const name of readdirSync(folder)) if (/^grammar-.*\.cjs$/.test(name)) rmSync(join(folder, name))
writeFileSync(file, printGrammar(readProjectSchema()))
