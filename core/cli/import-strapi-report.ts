import { printPath } from '../faults/diagnostic.ts'
import type { Remark } from '../strapi/sheet.ts'
import type { CommandTerms } from './command-terms.ts'

export interface StrapiReport {
  readonly strapi: 4 | 5
  /** The project file that was written. */
  readonly file: string
  readonly contentTypes: number
  readonly components: number
  readonly remarks: readonly Remark[]
}

/** What came over, what did not, what to do next. */
export function printStrapiReport(report: StrapiReport, { paint, folder }: CommandTerms): string {
  const { strapi, file, contentTypes, components, remarks } = report
  const came = `${file}: ${count(contentTypes, 'content-type')} and ${count(components, 'component')} of a Strapi ${strapi} project.`
  const left = remarks.map(({ path, text }) =>
    path.length === 0 ? `  ${text}` : `  ${paint('bold', printPath(path))}  ${text}`,
  )
  const heading = `${count(remarks.length, 'remark')}, each a comment in the file:`
  const next = [
    `  plinth check ${folder}   tells what is wrong with it: nothing yet`,
    `  plinth start ${folder}   serves it`,
  ]
  return [came, ...(left.length > 0 ? ['', heading, ...left] : []), '', 'Next:', ...next, ''].join('\n')
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
