export { JsonInput as BlocksInput } from '../fields/simple-inputs.tsx'
