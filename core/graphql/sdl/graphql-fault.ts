import type { Path } from '../../faults/diagnostic.ts'

/** Something that is wrong with what a project adds to the schema: in an extension, or at a place of project.yaml. */
export type GraphqlFault =
  | { readonly by: string; readonly message: string; readonly path: null }
  | { readonly by: null; readonly message: string; readonly path: Path }

export const inCode = (by: string, message: string): GraphqlFault => ({ by, message, path: null })

export const inProject = (path: Path, message: string): GraphqlFault => ({ by: null, message, path })
