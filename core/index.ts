// The public names, kept by hand: everything else in here may change from one version to the next.
export { type Blueprint, compileApp } from './app/compile-app.ts'
export { type ServedApp, type ServeTerms, serveApp } from './app/serve-app.ts'
export { printStartFault, type StartFault } from './app/start-fault.ts'
export type { Failed, Ok, Result } from './base/result.ts'
export { type Diagnostic, type Path, type Place, printDiagnostic } from './faults/diagnostic.ts'
