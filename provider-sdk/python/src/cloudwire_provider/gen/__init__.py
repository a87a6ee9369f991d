# Generated from the .proto files by `npm run gen`. Do not edit.
