import { parseDocument, type YAMLError } from 'yaml'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { Environment } from '../environment.ts'
import { type SecretTest, secretRanges, suspectRanges } from '../secret-ranges.ts'
import { nodesOf } from './read-nodes.ts'
import { placeAt, type SourceText, toSourceFile } from './source-file.ts'
import { syntaxFaults } from './syntax-faults.ts'
import type { YamlNode } from './yaml-tree.ts'

/** A file as far as it could be read. */
export interface ParsedYaml {
  /** Absent where the YAML itself is broken. */
  readonly tree?: YamlNode
  readonly faults: readonly Diagnostic[]
}

export interface ParseTerms {
  readonly environment: Environment
  readonly isSecret: SecretTest
}

/** YAML 1.2, one document, every key a text; duplicate keys, tags, aliases and merge keys are ours to judge. */
export function parseYaml(source: SourceText, terms: ParseTerms): ParsedYaml {
  const document = parseDocument(source.text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  const errors: readonly YAMLError[] = [...document.errors, ...document.warnings.filter(isTagFault)]
  const isBroken = errors.some(error => !isTagFault(error))
  const secrets = isBroken ? suspectRanges(source.text) : secretRanges(document, source.text, terms.isSecret)
  const file = toSourceFile(source, secrets)
  const faults = syntaxFaults(errors, document, source.text).map(
    ({ code, message, offset }): Diagnostic => ({
      code,
      message,
      place: placeAt({ file, offset }),
      path: [],
    }),
  )
  if (isBroken) return { faults }
  const read = nodesOf(document, { file, environment: terms.environment })
  return { tree: read.tree, faults: [...faults, ...read.faults] }
}

const isTagFault = (error: YAMLError): boolean => error.code === 'TAG_RESOLVE_FAILED'
