import { printPath } from '../../core/faults/diagnostic.ts'
import type { Remark } from '../strapi/yaml-document.ts'
import type { CommandTerms } from './command-terms.ts'

export interface StrapiReport {
  readonly strapi: 4 | 5
  /** The project file that was written. */
  readonly file: string
  /** The command that brings the documents, where they wait in a file; null: they do not. */
  readonly importing: string | null
  readonly contentTypes: number
  readonly components: number
  readonly remarks: readonly Remark[]
  /** Whether code of the project's own may have kept something from callers. */
  readonly guarded: boolean
  /** By key of the content-type; null: they were not asked for. */
  readonly documents: Readonly<Record<string, number>> | null
  /** What of the content did not come over. */
  readonly losses: readonly string[]
}

/** What came over, what did not, what to do next. */
export function printStrapiReport(report: StrapiReport, terms: CommandTerms): string {
  const { strapi, file, contentTypes, components, remarks, losses } = report
  const came = `${file}: ${count(contentTypes, 'content-type')} and ${count(components, 'component')} of a Strapi ${strapi} project.`
  return [
    came,
    ...documentLines(report),
    ...list(
      `${count(remarks.length, 'remark')}, each a comment in the file:`,
      remarks.map(remark => printRemark(remark, terms)),
    ),
    ...list('Of the content, this did not come over:', losses),
    ...list('Before others have a look:', report.guarded ? [GUARDED] : []),
    ...list('Next:', nextSteps(report, terms)),
    '',
  ].join('\n')
}

const GUARDED =
  'what controllers, policies and middlewares of your own kept from callers, nothing keeps from them now but permissions'

const list = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', heading, ...lines.map(line => `  ${line}`)]

const printRemark = ({ path, text }: Remark, { paint }: CommandTerms): string =>
  path.length === 0 ? text : `${paint('bold', printPath(path))}  ${text}`

function documentLines({ documents }: StrapiReport): readonly string[] {
  if (documents === null) return []
  const total = Object.values(documents).reduce((sum, each) => sum + each, 0)
  const parts = Object.entries(documents).map(([key, each]) => `${each} ${key}`)
  return [`${count(total, 'document')} read: ${parts.join(', ')}.`]
}

function nextSteps({ documents, importing }: StrapiReport, { folder }: CommandTerms): readonly string[] {
  return [
    `plinth check ${folder}    tells whether project.yaml is still in order when you have changed it`,
    ...(documents === null ? [] : [`plinth roles ${folder}    shows who may do what`]),
    ...(importing === null ? [] : [`${importing}    brings the documents`]),
    `plinth start ${folder}    serves it`,
  ]
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
