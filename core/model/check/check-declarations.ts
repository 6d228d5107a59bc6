import type { Diagnostic } from '../../faults/diagnostic.ts'
import { sortDiagnostics } from '../../project/faults.ts'
import type { Project } from '../../project/project.ts'
import type { Declarations } from '../declarations.ts'
import { alwaysLocalized } from './always-localized.ts'
import { apiIds } from './api-ids.ts'
import { columnNames } from './column-names.ts'
import { componentCycles } from './component-cycles.ts'
import { enumerations } from './enumerations.ts'
import type { ModelFinding, ModelRule } from './finding.ts'
import { uniqueGraphqlNames } from './graphql-names.ts'
import { indexes } from './indexes.ts'
import { knownComponents } from './known-components.ts'
import { knownTargets } from './known-targets.ts'
import { nameLengths } from './name-lengths.ts'
import { regexes } from './regexes.ts'
import { relationSides } from './relation-sides.ts'
import { renames } from './renames.ts'
import { reservedNames } from './reserved-names.ts'
import { tableNames } from './table-names.ts'
import { uidSources } from './uid-sources.ts'

const RULES: readonly ModelRule[] = [
  reservedNames,
  nameLengths,
  knownTargets,
  knownComponents,
  componentCycles,
  relationSides,
  alwaysLocalized,
  uidSources,
  enumerations,
  regexes,
  indexes,
  renames,
  apiIds,
  uniqueGraphqlNames,
  tableNames,
  columnNames,
]

/** All diagnostics in file order. Names in GraphQL may clash in a project that does not serve it. */
export function checkDeclarations(declarations: Declarations, project: Project): readonly Diagnostic[] {
  const rules = RULES.filter(rule => rule !== uniqueGraphqlNames || project.settings.graphql.enabled)
  return sortDiagnostics(
    rules.flatMap(rule => [...rule(declarations)]).map(finding => toDiagnostic(finding, project)),
  )
}

function toDiagnostic({ code, message, path, atKey, related }: ModelFinding, project: Project): Diagnostic {
  const place = atKey ? project.keyPlace(path) : project.place(path)
  const diagnostic = { code, message, place, path }
  if (!related) return diagnostic
  return { ...diagnostic, related: { place: project.keyPlace(related.path), message: related.message } }
}
