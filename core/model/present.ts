type Present<Shape> = { [Key in keyof Shape]?: Exclude<Shape[Key], undefined> }

/** Drops keys whose value is undefined: optional keys are absent, never undefined. */
export const present = <Shape extends object>(shape: Shape): Present<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Present<Shape>
