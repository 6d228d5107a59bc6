import type { Diagnostic } from '../../faults/diagnostic.ts'
import { sortDiagnostics } from '../../project/faults.ts'
import type { Project } from '../../project/project.ts'
import type { Declarations } from '../declarations.ts'
import {
  alwaysLocalized,
  componentCycles,
  enumerations,
  knownComponents,
  regexes,
  uidSources,
} from './attribute-options.ts'
import type { ModelFinding, ModelRule } from './finding.ts'
import { indexes } from './indexes.ts'
import { apiIds, columnNames, tableNames, uniqueGraphqlNames } from './name-clashes.ts'
import { knownTargets, relationSides } from './relations.ts'
import { renames } from './renames.ts'
import { nameLengths, reservedNames } from './reserved-names.ts'

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
