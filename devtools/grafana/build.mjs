// SPDX-License-Identifier: BSD-3-Clause
// Bundles the page: bundle.js and bundle.css.
import * as esbuild from 'esbuild';
await esbuild.build({ entryPoints: ['render.tsx'], bundle: true, outfile: 'bundle.js', format: 'iife', define: { 'process.env.NODE_ENV': '"production"', global: 'window', 'process.env': '{}' }, loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.woff': 'dataurl', '.ttf': 'dataurl', '.css': 'css' }, jsx: 'automatic', logLevel: 'error', logLimit: 15, minify: false });
