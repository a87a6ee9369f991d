export { formatHelp, type HelpText, type ProgramOption, type ProgramOptions } from "./options.ts";
export { type OptionRate, OptionValues } from "./options.ts";
export {
  type ProgramEnvironment,
  type ProgramInput,
  type ReadOptions,
  readOptions,
  type SettingsFrom,
} from "./read-options.ts";
export { type ReadmeTables, withTables } from "./readme-tables.ts";
export { type ProviderProgram, runProgram } from "./run-program.ts";
